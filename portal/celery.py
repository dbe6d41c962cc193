"""The Celery application: queues, delivery that survives a killed worker, and the timetable."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

TIME_LIMIT_S = 3600

app = Celery("portal")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    accept_content=["json"],
    task_serializer="json",
    result_backend=None,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_track_started=True,
    worker_prefetch_multiplier=1,
    task_time_limit=TIME_LIMIT_S,
    task_default_queue="maintenance",
    task_routes={
        "evidence.tasks.prepare_*": {"queue": "restructure"},
        "evidence.tasks.*": {"queue": "git"},
        "publishing.tasks.advance_*": {"queue": "publish"},
        "publishing.tasks.*": {"queue": "maintenance"},
        "search_api.tasks.*": {"queue": "maintenance"},
    },
    # A killed worker's task comes back, and a dead broker never blocks a request (spec 90, Celery).
    broker_transport_options={
        "visibility_timeout": 2 * TIME_LIMIT_S,
        "unacked_restore_interval": 2,
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": 1,
        "socket_timeout": 5,
        "retry_on_timeout": False,
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0,
        "interval_max": 0,
    },
    broker_connection_retry_on_startup=True,
    task_publish_retry=False,
    worker_hijack_root_logger=False,
    beat_schedule={
        "wake-generations": {"task": "publishing.tasks.wake_generations", "schedule": 60.0},
        "wake-preparations": {"task": "evidence.tasks.wake_preparations", "schedule": 60.0},
        "sweep-search-log": {"task": "search_api.tasks.sweep_search_log", "schedule": 3600.0},
        "pack-repositories": {"task": "evidence.tasks.pack_repositories", "schedule": 600.0},
        "sync-workspaces": {"task": "evidence.tasks.sync_workspaces", "schedule": 60.0},
    },
)
app.autodiscover_tasks(["evidence", "publishing", "search_api"])
